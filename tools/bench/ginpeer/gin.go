package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"larder.local/internal/testkit/ordertest"
	"larder.local/tools/bench/answers"
)

// engine returns Gin without a logger, which takes a fifth of the time.
func engine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return gin.New()
}

// head writes the headers of a response.
func head(c *gin.Context, a answers.Answer) {
	header := c.Writer.Header()
	for _, h := range a.Header {
		header.Add(h[0], h[1])
	}
}

// matches responds with 304 if the request has the response's ETag.
func matches(c *gin.Context, a answers.Answer, etag string) bool {
	if a.Status != http.StatusNotModified || c.GetHeader("If-None-Match") != etag {
		return false
	}
	head(c, a)
	c.Status(http.StatusNotModified)
	return true
}

// ready serves prepared bytes.
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
			_, _ = c.Writer.Write(body) // ignored: the client has disconnected
		})
	}
	return e, nil
}

// fromRedis reads each response from Redis: the body, or only the ETag for a
// conditional request.
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
				_, _ = c.Writer.Write(kept) // ignored: the client has disconnected
			}
		})
	}
	return e, nil
}

// binding binds an order with Gin and responds with a constant for its five lines.
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
			_, _ = c.Writer.Write(body) // ignored: the client has disconnected
		})
	}
	return e, nil
}
