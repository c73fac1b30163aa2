import type { Archive, Asset } from "./asset.js";
import type { Output } from "./output.js";
import type { Resource } from "./resource.js";

/**
 * What a program may give where a `T` is needed: a `T`, an output of one, or a list, map or object that has outputs
 * anywhere inside. Lists may be read-only, since they are copied. Properties that must be absent, as in {@link OneOf}, stay so,
 * since the compiler would otherwise compare a mistyped variant with an output, and complain about that.
 */
export type Input<T> =
    | Output<T>
    | (T extends Whole
          ? T
          : T extends readonly (infer Element)[]
            ? readonly Input<Element>[]
            : { [K in keyof T]: [T[K]] extends [undefined] ? T[K] : Input<T[K]> });

/** What has no parts that could be outputs. */
type Whole = string | number | boolean | null | undefined | Output<unknown> | Resource | Asset | Archive;
