"""Evaluates or parses expressions with python3-yaql: one JSON object a line on standard input, one answer a line.

{"parse": source}                              -> {"tree": text} or {"error": exception}
{"expression", "data", "options", "delegates"} -> {"value": text} or {"error": exception}
{"functions": true}                            -> {"value": JSON of [module, signature] of all functions}
{"suite": true}                                -> {"value": JSON of what the reference's own tests evaluate}

Values are written so that all types that expressions can tell apart differ.
"""
import collections.abc
import contextlib
import datetime
import functools
import itertools
import json
import signal
import struct
import sys
import unittest
import warnings

warnings.simplefilter("ignore")
import yaql
from yaql.language import contexts, expressions, specs, utils, yaqltypes

ENGINES = {}
CONTEXTS = {}


def engine(delegates):
    if delegates not in ENGINES:
        ENGINES[delegates] = yaql.YaqlFactory(allow_delegates=delegates).create()
        CONTEXTS[delegates] = yaql.create_context(delegates=delegates)
    return ENGINES[delegates]


def scalar(v):
    if v is None or isinstance(v, bool):
        return json.dumps(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, float):
        return "f:nan" if v != v else "f:" + struct.pack(">d", v).hex()
    if isinstance(v, str):
        return json.dumps(v, ensure_ascii=False)
    return None


def encode(v):
    s = scalar(v)
    if s is not None:
        return s
    if isinstance(v, collections.abc.Mapping):
        pairs = ", ".join(encode(k) + ": " + encode(x) for k, x in v.items())
        return ("d{" if isinstance(v, dict) else "{") + pairs + "}"
    if isinstance(v, collections.abc.Set):
        return "s<" + ", ".join(sorted(encode(x) for x in v)) + ">"
    if isinstance(v, tuple):
        return "(" + ", ".join(encode(x) for x in v) + ")"
    if isinstance(v, list):
        return "[" + ", ".join(encode(x) for x in v) + "]"
    if isinstance(v, datetime.datetime):
        return "t:" + v.isoformat()
    if isinstance(v, datetime.timedelta):
        return "p:%d" % (v // datetime.timedelta(microseconds=1))
    if isinstance(v, contexts.ContextBase):
        return "context"
    if isinstance(v, utils.MappingRule):
        return encode(v.source) + " => " + encode(v.destination)
    if v is utils.NO_VALUE:
        return "no value"
    if isinstance(v, collections.abc.Iterable):
        return "i(" + ", ".join(encode(x) for x in itertools.islice(v, 5000)) + ")"
    if callable(v):
        return "function"
    return type(v).__name__


def dump(n):
    if n is utils.NO_VALUE:
        return "_"
    if isinstance(n, expressions.Wrap):
        return "(" + dump(n.expr) + ")"
    if isinstance(n, expressions.MappingRuleExpression):
        return dump(n.source) + " => " + dump(n.destination)
    if isinstance(n, expressions.KeywordConstant):
        return n.value
    if isinstance(n, expressions.Constant):
        return scalar(n.value)
    if isinstance(n, expressions.GetContextValue):
        return n.path.value
    kind = {"BinaryOperator": "b", "UnaryOperator": "u"}.get(type(n).__name__, "")
    return kind + n.name + "[" + ", ".join(dump(a) for a in n.args) + "]"


def signature(name, f):
    params = []
    order = {"*": 1, "**": 3}
    for key, p in sorted(f.parameters.items(), key=lambda x: (order.get(x[0], 0 if x[1].position is not None else 2), x[1].position or 0)):
        if isinstance(p.value_type, yaqltypes.HiddenParameterType):
            continue
        text = key if key in order else "_" if name[0] in "#*" else p.alias or p.name
        if p.default is utils.NO_VALUE:
            text += "=unset"
        elif isinstance(p.default, str):
            text += "=text"
        elif p.default is not specs.NO_DEFAULT:
            text += "=" + json.dumps(p.default, default=str)
        params.append(text)
    text = name + "(" + ", ".join(params) + ")"
    if f.is_method:
        text += " extension" if f.is_function else " method"
    return text + (" without keywords" if f.no_kwargs else "")


def signatures():
    engine(True)
    context, found = CONTEXTS[True], []
    while context is not None:
        for name, functions in context._functions.items():
            for f in functions:
                module = f.payload.__module__.rpartition(".")[2]
                if module != "yaqlized":
                    found.append([module, signature(name, f)])
        context = context.parent
    return found


def suite():
    """Runs the reference's own tests and returns their expressions, with the data, unless that is not JSON."""
    from yaql import tests
    found, evaluate, create = [], tests.TestCase.eval, functools.cache(yaql.create_context)

    def record(self, expression, data=None, context=None):
        with contextlib.suppress(TypeError):
            found.append({"expression": expression, "data": json.loads(json.dumps(data))})
        return evaluate(self, expression, data, context)

    tests.TestCase.eval = record
    yaql.create_context = lambda *args, **options: create(*args, **options).create_child_context()  # saves most of the time
    path = tests.__path__[0]
    unittest.defaultTestLoader.discover(path, top_level_dir=path + "/../..").run(unittest.TestResult())
    return found


def answer(request):
    if "suite" in request:
        signal.alarm(60)
        return {"value": json.dumps(suite())}
    if "functions" in request:
        return {"value": json.dumps(signatures())}
    if "parse" in request:
        return {"tree": dump(engine(True)(request["parse"]).expression)}
    delegates = bool(request.get("delegates"))
    options = {"yaql." + k: v for k, v in request.get("options", {}).items()}
    options.setdefault("yaql.convertOutputData", False)
    statement = engine(delegates)(request["expression"], options)
    context = CONTEXTS[delegates].create_child_context()
    return {"value": encode(statement.evaluate(request.get("data"), context))}


class Timeout(BaseException):
    pass


def expire(*_):
    raise Timeout


signal.signal(signal.SIGALRM, expire)
for line in sys.stdin:
    signal.alarm(3)
    try:
        reply = json.dumps(answer(json.loads(line)))
    except (Exception, Timeout) as e:
        reply = json.dumps({"error": type(e).__name__, "message": str(e)[:300]})
    finally:
        signal.alarm(0)
    print(reply, flush=True)
