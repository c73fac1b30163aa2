// Package apigateway defines HTTP APIs backed by functions or by other servers.
package apigateway
