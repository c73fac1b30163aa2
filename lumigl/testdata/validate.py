"""Reads {"schemas": […], "documents": [{"schema": id, "document": …}]} from standard input, and prints for each document
whether its schema accepts it, in the opinion of the jsonschema package."""
import json
import sys
import warnings

warnings.simplefilter("ignore")  # RefResolver is deprecated since 4.18, and all there is in what Debian has.
from jsonschema import Draft202012Validator, RefResolver

given = json.load(sys.stdin)
store = {schema["$id"]: schema for schema in given["schemas"]}
validators = {
    id: Draft202012Validator(schema, resolver=RefResolver(id, schema, store=store)) for id, schema in store.items()
}
json.dump([validators[d["schema"]].is_valid(d["document"]) for d in given["documents"]], sys.stdout)
