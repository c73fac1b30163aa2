// Command two does nothing.
package main

func main() {}
