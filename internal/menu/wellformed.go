package menu

// jsonDepth is how deep encoding/json lets a text nest.
const jsonDepth = 10_000

// wellFormed tells whether text is one JSON value and nothing else, nested at
// most depth levels. It says what encoding/json says, in a fraction of the
// time, and leaves to it to say what is wrong.
func wellFormed(text []byte, depth int) bool {
	end := pastValue(text, pastSpace(text, 0), depth)
	return end >= 0 && pastSpace(text, end) == len(text)
}

func pastSpace[T string | []byte](text T, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// pastValue gives the offset behind the value that begins at i; -1 where there
// is none. So do the others below.
func pastValue[T string | []byte](text T, i, depth int) int {
	if i >= len(text) {
		return -1
	}
	switch text[i] {
	case '{':
		return pastList(text, i+1, '}', depth-1)
	case '[':
		return pastList(text, i+1, ']', depth-1)
	case '"':
		return pastString(text, i)
	case 't':
		return pastWord(text, i, "true")
	case 'f':
		return pastWord(text, i, "false")
	case 'n':
		return pastWord(text, i, "null")
	default:
		return pastNumber(text, i)
	}
}

// pastList reads an object or an array behind its opening bracket.
func pastList[T string | []byte](text T, i int, closing byte, depth int) int {
	if depth < 0 {
		return -1
	}
	i = pastSpace(text, i)
	if i < len(text) && text[i] == closing {
		return i + 1
	}
	for {
		if closing == '}' {
			if i >= len(text) || text[i] != '"' {
				return -1
			}
			if i = pastString(text, i); i < 0 {
				return -1
			}
			if i = pastSpace(text, i); i >= len(text) || text[i] != ':' {
				return -1
			}
			i = pastSpace(text, i+1)
		}
		if i = pastValue(text, i, depth); i < 0 {
			return -1
		}
		if i = pastSpace(text, i); i >= len(text) {
			return -1
		}
		switch text[i] {
		case closing:
			return i + 1
		case ',':
			i = pastSpace(text, i+1)
		default:
			return -1
		}
	}
}

func pastString[T string | []byte](text T, i int) int {
	for i++; ; i++ {
		if i = pastPlain(text, i); i >= len(text) {
			return -1
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		}
		i++
		if i >= len(text) {
			return -1
		}
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		case 'u':
			for range 4 {
				if i++; i >= len(text) || !hexDigit(text[i]) {
					return -1
				}
			}
		default:
			return -1
		}
	}
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func pastWord[T string | []byte](text T, i int, word string) int {
	if len(text)-i < len(word) || string(text[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func pastNumber[T string | []byte](text T, i int) int {
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := i
	if i = pastDigits(text, i); i < 0 || (text[whole] == '0' && i > whole+1) {
		return -1
	}
	if i < len(text) && text[i] == '.' {
		if i = pastDigits(text, i+1); i < 0 {
			return -1
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		i = pastDigits(text, i)
	}
	return i
}

// pastDigits reads at least one digit.
func pastDigits[T string | []byte](text T, i int) int {
	start := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}
