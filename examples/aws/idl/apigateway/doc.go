// Package apigateway describes interfaces over HTTP whose work is done by functions or by other servers.
package apigateway
