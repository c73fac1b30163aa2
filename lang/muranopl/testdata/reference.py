"""Runs methods with python3-murano: one JSON object a line on standard input, one answer a line.

{"classes", "model", "object", "method", "args"} ->
    {"value", "trace"} or {"error": {"kind", "message", "names", "stack"}, "trace"}

The classes are a folder of YAML files or the texts of some, and keep for the requests that follow; each has a freshly
loaded model. MuranoPL is that of version 1.5. Objects are written as {"?": class}. Time is virtual, nothing waits.
"""
import collections.abc
import functools
import glob
import json
import logging
import os
import signal
import sys
import warnings

warnings.simplefilter("ignore")
import eventlet.event
import eventlet.hubs
import murano.common.config
from murano.dsl import constants, context_manager, dsl_exception, dsl_types, exceptions, executor, helpers, murano_package
from murano.dsl import namespace_resolver, package_loader, yaql_expression
from murano.engine import execution_session, yaql_yaml_loader

VERSION = constants.RUNTIME_VERSION_1_5
ANY = {"Contract": yaql_expression.YaqlExpression("$", VERSION), "Usage": "Runtime"}
CORE = {
    "io.murano.StackTrace": ["frames"],
    "io.murano.Exception": ["name", "message", "stackTrace", "extra", "nativeException"],
}


class Functions(context_manager.ContextManager):
    def create_root_context(self, runtime_version):
        context = super().create_root_context(runtime_version).create_child_context()
        context.register_function(lambda value: trace.append(encode(value)), "trace")
        return context


class Package(murano_package.MuranoPackage):
    def get_resource(self, name):
        pass


class Loader(package_loader.MuranoPackageLoader):
    def __init__(self, documents):
        self.core = Package(self, constants.CORE_LIBRARY, None, VERSION)
        for name, properties in CORE.items():
            self.core.register_class({"Name": name, "Properties": {p: dict(ANY) for p in properties}}, name)
        self.classes = Package(self, "tests", None, VERSION)
        for file in documents:
            spaces = {}
            for document in file:
                spaces = document.get("Namespaces", spaces)
                if "Name" in document:
                    name = namespace_resolver.NamespaceResolver(spaces).resolve_name(document["Name"])
                    self.classes.register_class(file, name)

    def load_package(self, name, spec):
        return {"tests": self.classes, constants.CORE_LIBRARY: self.core}[name]

    def load_class_package(self, name, spec):
        for package in self.classes, self.core:
            if name in package.classes:
                return package
        raise exceptions.NoPackageForClassFound(name)

    def register_package(self, package):
        pass

    import_fixation_table = export_fixation_table = compact_fixation_table = register_package


@functools.cache
def read(text):
    return yaql_yaml_loader.get_loader(VERSION)(text, "classes.yaml")


def decode(classes):
    if isinstance(classes, str):
        names = sorted(glob.glob(os.path.join(classes, "**", "*.yaml"), recursive=True))
        classes = [open(name).read() for name in names]
    return [read(text) for text in classes]


def encode(v):
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    if isinstance(v, collections.abc.Mapping):
        return {k if isinstance(k, str) else json.dumps(encode(k)): encode(x) for k, x in v.items()}
    if isinstance(v, (dsl_types.MuranoObject, dsl_types.MuranoObjectInterface)):
        return {"?": (v.real_this if isinstance(v, dsl_types.MuranoObject) else v.object.real_this).type.name}
    if isinstance(v, dsl_types.MuranoTypeReference):
        return v.type.name
    if isinstance(v, collections.abc.Iterable):
        return [encode(x) for x in v]
    return type(v).__name__


def failure(e):
    answer = {"kind": type(e).__name__, "message": str(e)[:300]}
    if isinstance(e, dsl_exception.MuranoPlException):
        answer["names"] = e.names
        frames = e.stacktrace.object.get_property("frames")
        answer["stack"] = [
            "%s in method %s of type %s: %s" % (
                "%d:%d" % (f["location"].start_line, f["location"].start_column) if f["location"] else "?",
                f["methodName"], f["typeName"], f["instruction"])
            for f in frames if f["typeName"]]
        original = getattr(e, "original_exception", None)
        if original is not None:
            answer["kind"] = type(original).__name__
    return answer


documents, trace = [], []


def answer(request):
    global documents
    if "classes" in request:
        documents = decode(request["classes"])
    run = executor.MuranoDslExecutor(Loader(documents), Functions(), execution_session.ExecutionSession())
    root = run.load({"Objects": request["model"]}).object
    with helpers.with_object_store(run.object_store):
        o = run.object_store.get(request["object"]) if request.get("object") else root
        method = o.type.find_single_method(request["method"])
        args = tuple(request.get("args") or ())
        return {"value": encode(run.invoke_method(method, o.cast(method.declaring_type), None, args, {}, invoke_action=False))}


class Timeout(BaseException):
    pass


def expire(*_):
    raise Timeout


now = 0.0


def clock():
    wait(1e-6)  # Timers of one time fire in the order that they were set in.
    return now


def wait(seconds=None):
    global now
    now += seconds or 0


class Ordered(dict):
    def add(self, item):
        self[item] = None

    def discard(self, item):
        self.pop(item, None)


eventlet.event.set = Ordered  # Events wake those who wait in order.
logging.disable()
sys.unraisablehook = lambda *_: None  # Objects outlive their executors.
hub = eventlet.hubs.get_hub()
hub.clock, hub.wait = clock, wait
signal.signal(signal.SIGALRM, expire)
for line in sys.stdin:
    trace.clear()
    now = 0.0
    signal.alarm(60)
    try:
        reply = answer(json.loads(line))
    except (Exception, Timeout) as e:
        reply = {"error": failure(e)}
    finally:
        signal.alarm(0)
    print(json.dumps({**reply, "trace": trace}, ensure_ascii=False), flush=True)
