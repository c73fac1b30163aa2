// Command one does nothing.
package main

func main() {}
