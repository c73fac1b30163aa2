// Package ec2 defines virtual machines and the networks that connect them.
package ec2
