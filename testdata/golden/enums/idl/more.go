package enums

const Magnetic Kind = "magnetic"
