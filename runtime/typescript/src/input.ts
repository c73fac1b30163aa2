import type { Archive, Asset } from "./asset.js";
import type { Output } from "./output.js";
import type { Resource } from "./resource.js";

/**
 * The type of an argument for a `T`: a `T`, an output of one, or a list, map, or object that contains outputs. Lists
 * may be read-only, since they are copied. Properties of type `never`, as in {@link OneOf}, do not accept outputs:
 * otherwise, the compiler's error about a mistyped variant would compare it with an output.
 */
export type Input<T> =
    | Output<T>
    | (T extends Whole
          ? T
          : T extends readonly (infer Element)[]
            ? readonly Input<Element>[]
            : { [K in keyof T]: [T[K]] extends [undefined] ? T[K] : Input<T[K]> });

/** Types whose values have no parts that could be outputs. */
type Whole = string | number | boolean | null | undefined | Output<unknown> | Resource | Asset | Archive;
