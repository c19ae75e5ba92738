package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"
)

// setText gives v the value that text spells: the one reading of scalars for
// the file and the environment alike. The error says what was expected.
func setText(v reflect.Value, text string) error {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration: write a number and a unit, such as 500ms, 30s, 2m or 24h", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	if isCustom(v.Type()) {
		return reworded(yaml.UnmarshalWithOptions([]byte(text), v.Addr().Interface(), yaml.Strict()))
	}
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
		return u.UnmarshalText([]byte(text))
	}
	return setPlain(v, text)
}

func setPlain(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		switch text {
		case "true", "false":
			v.SetBool(text == "true")
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no whole number of at least 0", text)
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(n)
	default:
		return errors.New("this is a section of several keys, not one value")
	}
	return nil
}

// reworded takes out of an error what Load says by itself: the YAML library's
// position and excerpt, a room's key.
func reworded(err error) error {
	if err == nil {
		return nil
	}
	if key, msg := fault(err); key != "" {
		return errors.New(msg)
	}
	if ofYAML, ok := errors.AsType[yaml.Error](err); ok {
		return errors.New(ofYAML.GetMessage())
	}
	return err
}
