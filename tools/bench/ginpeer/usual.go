package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"larder.local/tools/bench/answers"
)

// usual places orders as they are usually placed: Gin binds the JSON, SET NX takes
// the idempotency key, net/http sends the order, and SET stores the answer for a
// repeated request. Nothing is validated or recorded, and a crash between SET NX and
// SET leaves the key taken.
type usual struct {
	redis   *redis.Client
	service string // the ordering service's URL
	token   string
	client  *http.Client
}

const (
	// usualTTL is the lifetime of a key, as larder's ordering.key_ttl.
	usualTTL = 24 * time.Hour
	// inProgress is the value of a key before the answer is known.
	inProgress = "-"
	// usualConnections is the number of idle connections to the ordering service. The
	// default of net/http, two, would open one for nearly every order.
	usualConnections = 64
	usualTimeout     = 15 * time.Second
)

// The order as this implementation binds and sends it (docs/ordering-service.md,
// section 2.1).
type (
	usualOrder struct {
		RestaurantID   string       `json:"restaurantID"`
		Comment        string       `json:"comment,omitempty"`
		Persons        int          `json:"persons,omitempty"`
		DishList       []usualDish  `json:"dishList" binding:"required"`
		ExpeditionType string       `json:"expeditionType" binding:"required"`
		ExpectedAt     string       `json:"expectedAt"`
		PaymentTypeID  string       `json:"paymentTypeID"`
		Guest          usualGuest   `json:"guest"`
		Address        usualAddress `json:"address"`
	}
	usualDish struct {
		usualItem

		Ingredients []usualItem `json:"ingredients"`
	}
	usualItem struct {
		ID       string      `json:"ID"`
		Name     string      `json:"name"`
		Price    json.Number `json:"price"`
		Quantity json.Number `json:"quantity"`
	}
	usualGuest struct {
		Email     string `json:"email,omitempty"`
		Phone     string `json:"phone"`
		FirstName string `json:"firstName,omitempty"`
		LastName  string `json:"lastName,omitempty"`
	}
	usualAddress struct {
		Street      string  `json:"street"`
		CityName    string  `json:"cityName"`
		HouseNumber string  `json:"houseNumber"`
		FullAddress string  `json:"fullAddress"`
		Lat         float64 `json:"lat,omitempty"`
		Lon         float64 `json:"lon,omitempty"`
		Floor       int     `json:"floor,omitempty"`
	}
	usualPayment struct {
		Code   string      `json:"code"`
		Amount json.Number `json:"amount"`
		PaidAt string      `json:"paidAt"`
	}
	usualRejection struct {
		ReasonID string `json:"rejectionReasonID"`
		Text     string `json:"rejectionReasonText"`
	}
)

// serveUsual runs the implementation with its arguments.
func serveUsual(ctx context.Context, words []string, out io.Writer) error {
	flags := flag.NewFlagSet(answers.Usual, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error contains the message
	redisURL := flags.String("redis", "", "where the idempotency keys are stored")
	service := flags.String("service", "", "the ordering service's URL")
	if err := flags.Parse(words); err != nil {
		return err
	}
	handler, err := newUsual(ctx, *redisURL, *service)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, out)
	if err != nil {
		return err
	}
	return serve(ctx, listener, handler)
}

// newUsual connects to Redis and gets a token of the ordering service.
func newUsual(ctx context.Context, redisURL, service string) (http.Handler, error) {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return nil, err
	}
	u := &usual{
		redis:   redis.NewClient(options),
		service: service,
		client:  &http.Client{Timeout: usualTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: usualConnections}},
	}
	if err := u.redis.Ping(ctx).Err(); err != nil {
		return nil, err
	}
	if err := u.signIn(ctx); err != nil {
		return nil, err
	}
	e := engine()
	e.POST("/v1/restaurants/:restaurant/orders", u.place)
	for operation, body := range map[string]func() any{
		"pay":      func() any { return new([]usualPayment) },
		"complete": func() any { return nil },
		"reject":   func() any { return new(usualRejection) },
	} {
		e.PUT("/v1/orders/:order/"+operation, func(c *gin.Context) { //nolint:contextcheck // a request's context is its own
			u.change(c, operation, body())
		})
	}
	return e, nil
}

// signIn gets a token, once: the measurement is shorter than its lifetime.
func (u *usual) signIn(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo"}, "client_secret": {"demo-secret"}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.service+"/connect/token", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&token); err != nil || token.AccessToken == "" {
		return errors.Join(fmt.Errorf("no token: %s", response.Status), err)
	}
	u.token = token.AccessToken
	return nil
}

// place places an order.
func (u *usual) place(c *gin.Context) {
	var order usualOrder
	if err := c.ShouldBindJSON(&order); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"msg": err.Error()})
		return
	}
	order.RestaurantID = c.Param("restaurant")
	u.once(c, http.StatusCreated, http.MethodPost, "/orders/api/v1/orders", order)
}

// change pays, completes or rejects an order.
func (u *usual) change(c *gin.Context, operation string, body any) {
	if body != nil {
		if err := c.ShouldBindJSON(body); err != nil {
			c.JSON(http.StatusBadRequest, gin.H{"msg": err.Error()})
			return
		}
	}
	u.once(c, http.StatusOK, http.MethodPut, "/orders/api/v1/orders/"+c.Param("order")+"/"+operation, body)
}

// once sends a call and stores its answer, or returns the stored one.
func (u *usual) once(c *gin.Context, status int, method, path string, body any) {
	ctx, key := c.Request.Context(), "usual:"+c.GetHeader("Idempotency-Key")
	taken, err := u.redis.SetNX(ctx, key, inProgress, usualTTL).Result()
	if err != nil {
		c.JSON(http.StatusServiceUnavailable, gin.H{"msg": err.Error()})
		return
	}
	if !taken {
		stored, err := u.redis.Get(ctx, key).Bytes()
		switch {
		case err != nil:
			c.JSON(http.StatusServiceUnavailable, gin.H{"msg": err.Error()})
		case string(stored) == inProgress:
			c.JSON(http.StatusConflict, gin.H{"msg": "in progress"})
		default:
			c.Header("Idempotent-Replayed", "true")
			c.Data(status, "application/json", stored)
		}
		return
	}
	answer, err := u.send(ctx, method, path, body)
	if err == nil {
		err = u.redis.Set(ctx, key, answer, usualTTL).Err()
	}
	if err != nil {
		c.JSON(http.StatusBadGateway, gin.H{"msg": err.Error()})
		return
	}
	c.Data(status, "application/json", answer)
}

// send sends a call to the ordering service and returns its answer.
func (u *usual) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, u.service+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+u.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := u.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("the ordering service answered %s: %.500s", response.Status, answer)
	}
	return answer, nil
}
