package features
