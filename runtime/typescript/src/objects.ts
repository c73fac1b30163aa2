// Types whose values are objects of this package. They are not in shape.ts, since the classes of the objects use it.

import type { Archive, Asset } from "./asset.js";
import type { Resource } from "./resource.js";
import type { Type, Typed } from "./shape.js";

export const asset: Typed<Asset> = { kind: "asset" };
export const archive: Typed<Archive> = { kind: "archive" };
export const anyResource: Typed<Resource> = { kind: "resource" };

/**
 * A resource reference of one type. It takes the type's token rather than its class, so that files need not import one
 * another. If the type argument is a class, values have the type of the class.
 */
export function resource<const Token extends string>(token: Token): Typed<Resource<Token>>;
export function resource<R extends Resource>(token: TokenOf<R>): Typed<R>;
export function resource(token: string): Type {
    return { kind: "resource", token };
}

/** A resource reference of one of several types. */
export function union<const Tokens extends readonly string[]>(...tokens: Tokens): Typed<Resource<Tokens[number]>>;
export function union(...tokens: string[]): Type {
    return { kind: "resource", token: tokens };
}

type TokenOf<R extends Resource> = R extends Resource<infer Token> ? Token : never;
