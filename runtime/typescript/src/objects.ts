// The types whose values are objects of this package. Their classes use shapes, which therefore are in another file.

import type { Archive, Asset } from "./asset.js";
import type { Resource } from "./resource.js";
import type { Type, Typed } from "./shape.js";

export const asset: Typed<Asset> = { kind: "asset" };
export const archive: Typed<Archive> = { kind: "archive" };
export const anyResource: Typed<Resource> = { kind: "resource" };

/**
 * A capability of the type that the token names. The class is not needed, so files need not load one another; as a type
 * argument it makes the value one of that class.
 */
export function resource<const Token extends string>(token: Token): Typed<Resource<Token>>;
export function resource<R extends Resource>(token: TokenOf<R>): Typed<R>;
export function resource(token: string): Type {
    return { kind: "resource", token };
}

/** A capability of one of the types that the tokens name. */
export function union<const Tokens extends readonly string[]>(...tokens: Tokens): Typed<Resource<Tokens[number]>>;
export function union(...tokens: string[]): Type {
    return { kind: "resource", token: tokens };
}

type TokenOf<R extends Resource> = R extends Resource<infer Token> ? Token : never;
