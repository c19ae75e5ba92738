package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// asker asks a person, on standard error, so that standard output is the
// command's result alone. A mute one takes what is usual instead.
type asker struct {
	w     *world
	lines *bufio.Reader
	mute  bool
}

func newAsker(w *world, mute bool) *asker {
	return &asker{w: w, lines: bufio.NewReader(w.in), mute: mute}
}

// say tells a person something.
func (a *asker) say(format string, args ...any) {
	if !a.mute {
		a.w.err.printf(format+"\n", args...)
	}
}

// line asks for a line of text. Enter takes the preset; flag gives the same
// unattended. Without a preset it asks until there is an answer.
func (a *asker) line(ctx context.Context, question, preset, flag string) (string, error) {
	if a.mute {
		if preset == "" {
			return "", &usageError{flag + " is missing, and with --yes it is not asked for"}
		}
		return preset, nil
	}
	for range triesOfPeople {
		text, err := a.optional(ctx, question, preset, flag)
		if text != "" || err != nil {
			return text, err
		}
	}
	return "", &usageError{fmt.Sprintf("no answer to %q: give %s", question, flag)}
}

// optional is line where nothing is an answer too.
func (a *asker) optional(ctx context.Context, question, preset, flag string) (string, error) {
	if a.mute {
		return preset, nil
	}
	if preset != "" {
		question += " [" + preset + "]"
	}
	text, err := a.read(ctx, question, flag)
	if text == "" {
		text = preset
	}
	return text, err
}

// sure asks yes or no; no is what counts where nothing is said.
func (a *asker) sure(ctx context.Context, question string) (bool, error) {
	if a.mute {
		return false, nil
	}
	for range triesOfPeople {
		text, err := a.read(ctx, question+" [y/N]", "--yes")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
		a.say("Say y or n.")
	}
	return false, nil
}

// choice asks for one of a few answers, of which the first is the usual one.
func (a *asker) choice(ctx context.Context, question string, answers []string, flag string) (string, error) {
	for range triesOfPeople {
		text, err := a.optional(ctx, question, answers[0], flag)
		if err != nil || slices.Contains(answers, text) {
			return text, err
		}
		a.say("Say one of %s.", strings.Join(answers, ", "))
	}
	return "", &usageError{fmt.Sprintf("no answer to %q: give %s", question, flag)}
}

// hidden asks for a secret, which a terminal does not show.
func (a *asker) hidden(ctx context.Context, question, flag string) (string, error) {
	if a.mute {
		return "", &usageError{flag + " is missing, and with --yes it is not asked for"}
	}
	if a.w.secret == nil {
		return a.line(ctx, question, "", flag)
	}
	for range triesOfPeople {
		a.w.err.printf("%s (not shown): ", question)
		text, err := a.w.secret(ctx)
		a.w.err.println()
		switch {
		case errors.Is(err, io.EOF):
			return "", nobody(question, flag)
		case err != nil:
			return "", err
		case text != "":
			return text, nil
		}
	}
	return "", &usageError{fmt.Sprintf("no answer to %q: give %s", question, flag)}
}

// read shows a question and reads the answer, until ctx ends. A read that a
// person never answers is left to the end of the program: nothing can
// interrupt it.
func (a *asker) read(ctx context.Context, question, flag string) (string, error) {
	a.w.err.printf("%s: ", question)
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := a.lines.ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case got := <-read:
		text := strings.TrimSpace(got.text)
		if errors.Is(got.err, io.EOF) && text == "" {
			return "", nobody(question, flag)
		}
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return "", fmt.Errorf("read the answer: %w", got.err)
		}
		return text, nil
	case <-ctx.Done():
		a.w.err.println()
		return "", context.Cause(ctx)
	}
}

// nobody says that there is nobody to answer.
func nobody(question, flag string) error {
	return &usageError{fmt.Sprintf("the input ended before an answer to %q: give %s", question, flag)}
}
