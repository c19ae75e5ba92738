package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Where a secret can be.
const (
	secretTyped      = "1"
	secretInFile     = "2"
	secretInVariable = "3"
)

// askSecret asks for the client's secret, or for where it is.
func (s *conversation) askSecret(ctx context.Context) (err error) {
	s.secret = secretPlace{file: s.text("client-secret-file"), variable: s.text("client-secret-env")}
	given := s.text("client-secret")
	kind := secretTyped
	switch {
	case s.connection.ClientSecret != "": // it did not work
		s.secret, given = secretPlace{}, ""
		fallthrough
	case given == "" && s.secret == secretPlace{}:
		if s.ask.mute {
			return &usageError{"the client's secret is missing: LARDER_INIT_CLIENT_SECRET, --client-secret-file or --client-secret-env"}
		}
		kind, err = s.ask.choice(ctx, "The client's secret: 1 is typed here (not shown), 2 is in a file, 3 is in a variable", []string{secretTyped, secretInFile, secretInVariable}, "--client-secret-file")
		if err != nil {
			return err
		}
	case s.secret.file != "":
		kind = secretInFile
	case s.secret.variable != "":
		kind = secretInVariable
	}
	switch kind {
	case secretInFile:
		return s.secretOfFile(ctx)
	case secretInVariable:
		return s.secretOfVariable(ctx)
	}
	if s.connection.ClientSecret = given; given == "" {
		s.connection.ClientSecret, err = s.ask.hidden(ctx, "Client secret", "--client-secret-file")
	}
	return err
}

func (s *conversation) secretOfFile(ctx context.Context) (err error) {
	for range triesOfPeople {
		if s.secret.file == "" {
			if s.secret.file, err = s.ask.line(ctx, "The file that holds the secret", "", "--client-secret-file"); err != nil {
				return err
			}
		}
		content, err := os.ReadFile(s.secret.file)
		if err == nil && strings.TrimSpace(string(content)) == "" {
			err = errors.New("the file is empty")
		}
		if err == nil {
			s.connection.ClientSecret = strings.TrimRight(string(content), "\r\n")
			s.secret.file, err = filepath.Abs(s.secret.file)
			return err
		}
		err = fmt.Errorf("the secret of %s: %w", s.secret.file, innermost(err))
		if s.ask.mute {
			return err
		}
		s.ask.say("%v", err)
		s.secret.file = ""
	}
	return &usageError{"no file with a secret: give --client-secret-file"}
}

func (s *conversation) secretOfVariable(ctx context.Context) (err error) {
	for range triesOfPeople {
		if s.secret.variable == "" {
			if s.secret.variable, err = s.ask.line(ctx, "The variable that holds the secret", "", "--client-secret-env"); err != nil {
				return err
			}
		}
		if value, _ := variable(s.w.env, s.secret.variable); value != "" {
			s.connection.ClientSecret = value
			return nil
		}
		err = &steppedError{fmt.Errorf("the variable %s is not set here", s.secret.variable), "export it first, or another --client-secret-env"}
		if s.ask.mute {
			return err
		}
		s.ask.say("%v", err)
		s.secret.variable = ""
	}
	return &usageError{"no variable with a secret: give --client-secret-env"}
}
