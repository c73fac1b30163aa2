/** What TypeScript packages that cidlc generates link against, and what evaluates programs that use them. */

export { Archive, type ArchiveSource, Asset, type AssetSource } from "./asset.js";
export { formatGraph } from "./canonical.js";
export { component } from "./component.js";
export { type Configuration, configuration, configure } from "./config.js";
export { deprecate, deprecated } from "./deprecated.js";
export { ArgumentError, type Fault } from "./errors.js";
export { formerly, was } from "./former.js";
export { type Got, type Known, type PathProblem, get, interpolate, jsonStringify, secret } from "./expression.js";
export type { Desired, Graph } from "./graph.js";
export type { Input } from "./input.js";
export { type Module, type UseOptions, module, provide } from "./module.js";
export type { Names } from "./names.js";
export { anyResource, archive, asset, resource, union } from "./objects.js";
export type { PropertyPath, ResourceOptions, Timeouts } from "./options.js";
export { Output } from "./output.js";
export type { Position } from "./position.js";
export { EvaluationError, type Problem } from "./problem.js";
export { evaluateProgram } from "./program.js";
export { conflictsWith, exactlyOneOf, requiredWith } from "./relations.js";
export {
    type Evaluation,
    NamedResource,
    type Reference,
    Resource,
    evaluate,
    id,
    reference,
    urn,
} from "./resource.js";
export {
    type Constraints,
    type Enum,
    type OneOf,
    type Options,
    type Property,
    type Shape,
    type Type,
    type Typed,
    type ValueOf,
    type Verb,
    any,
    boolean,
    constrained,
    enumeration as enum,
    input as in,
    list,
    map,
    number,
    optional,
    optionalOut,
    out,
    replaces,
    required,
    secretProperty,
    string,
    struct,
    verb,
} from "./shape.js";
export { requireGeneration, version } from "./version.js";
