import type { Archive, Asset } from "./asset.js";
import type { Output } from "./output.js";
import type { Resource } from "./resource.js";

/**
 * A value that a program may pass for a `T`: a `T`, an output of one, or a list, map, or object that contains outputs.
 * Lists may be read-only, since they are copied. Properties that must be absent, as in {@link OneOf}, stay so; the
 * compiler would otherwise compare a mistyped variant with an output and report that instead.
 */
export type Input<T> =
    | Output<T>
    | (T extends Whole
          ? T
          : T extends readonly (infer Element)[]
            ? readonly Input<Element>[]
            : { [K in keyof T]: [T[K]] extends [undefined] ? T[K] : Input<T[K]> });

/** Types without parts that could be outputs. */
type Whole = string | number | boolean | null | undefined | Output<unknown> | Resource | Asset | Archive;
