package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"larder/internal/testkit/ordertest"
	"larder/tools/bench/answers"
)

// engine is Gin without a logger, which alone would cost a fifth.
func engine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return gin.New()
}

// head writes what stands before a body.
func head(c *gin.Context, a answers.Answer) {
	header := c.Writer.Header()
	for _, h := range a.Header {
		header.Add(h[0], h[1])
	}
}

// matches answers 304 where the request has what the answer has.
func matches(c *gin.Context, a answers.Answer, etag string) bool {
	if a.Status != http.StatusNotModified || c.GetHeader("If-None-Match") != etag {
		return false
	}
	head(c, a)
	c.Status(http.StatusNotModified)
	return true
}

// ready answers with bytes that were made before.
func ready(list []answers.Answer) (http.Handler, error) {
	e := engine()
	for _, a := range list {
		body, err := a.Body()
		if err != nil {
			return nil, err
		}
		length, etag := strconv.Itoa(len(body)), a.ETag()
		e.GET(a.Path, func(c *gin.Context) {
			if matches(c, a, etag) {
				return
			}
			head(c, a)
			c.Header("Content-Length", length)
			c.Status(http.StatusOK)
			_, _ = c.Writer.Write(body) // a client that is gone needs no answer
		})
	}
	return e, nil
}

// fromRedis asks Redis for each answer: for the body, or for the ETag alone
// where that decides.
func fromRedis(ctx context.Context, list []answers.Answer, url string) (http.Handler, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	client := redis.NewClient(options)
	e := engine()
	for _, a := range list {
		key, value := "peer:"+a.Path, []byte(a.ETag())
		if a.Status != http.StatusNotModified {
			if value, err = a.Body(); err != nil {
				return nil, err
			}
		}
		if err := client.Set(ctx, key, value, 0).Err(); err != nil {
			return nil, err
		}
		e.GET(a.Path, func(c *gin.Context) { //nolint:contextcheck // a request's context is its own
			kept, err := client.Get(c.Request.Context(), key).Bytes()
			switch {
			case err != nil:
				c.Status(http.StatusServiceUnavailable)
			case matches(c, a, string(kept)):
			default:
				head(c, a)
				c.Header("Content-Length", strconv.Itoa(len(kept)))
				c.Status(http.StatusOK)
				_, _ = c.Writer.Write(kept) // a client that is gone needs no answer
			}
		})
	}
	return e, nil
}

// binding binds an order as Gin does, and answers a constant to each of five lines.
func binding(list []answers.Answer) (http.Handler, error) {
	e := engine()
	for _, a := range list {
		body, err := a.Body()
		if err != nil {
			return nil, err
		}
		length := strconv.Itoa(len(body))
		e.POST(a.Path, func(c *gin.Context) {
			var order ordertest.Bound
			if err := c.ShouldBindJSON(&order); err != nil || len(order.DishList) != 5 {
				c.Status(http.StatusBadRequest)
				return
			}
			head(c, a)
			c.Header("Content-Length", length)
			c.Status(http.StatusOK)
			_, _ = c.Writer.Write(body) // a client that is gone needs no answer
		})
	}
	return e, nil
}
