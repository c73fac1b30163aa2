// Package ec2 describes virtual machines and the networks that connect them.
package ec2
