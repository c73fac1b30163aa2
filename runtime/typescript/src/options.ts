import type { Resource } from "./resource.js";

/**
 * How an engine treats a resource. Name is one of the properties that a program sets; without it, the options are such
 * that any resource can have them.
 */
export interface ResourceOptions<Name extends PropertyKey = never> {
    /** What the resource was called before: names, or URNs. Without it, a resource with a new name is a new one. */
    readonly aliases?: readonly string[] | undefined;
    /** Whether a replacement deletes the old resource before it creates the new one. */
    readonly deleteBeforeReplace?: boolean | undefined;
    /** Resources to create before this one and to delete after it, although no property refers to them. */
    readonly dependsOn?: readonly Resource[] | undefined;
    /** Paths of properties that are set when the resource is created, and whose later changes are ignored. */
    readonly ignoreChanges?: readonly PropertyPath<Name>[] | undefined;
    /** The id of an existing resource to take over, instead of creating one. */
    readonly import?: string | undefined;
    /** Whether a deployment that would delete or replace the resource is refused. */
    readonly protect?: boolean | undefined;
    /** Paths of properties whose change replaces the resource. */
    readonly replaceOnChanges?: readonly PropertyPath<Name>[] | undefined;
    /** Whether the resource itself stays when it is deleted from the program or replaced. */
    readonly retainOnDelete?: boolean | undefined;
    /** How long an operation may take, such as `90s`, `10m` or `1h30m`. */
    readonly timeouts?: Timeouts | undefined;
}

/** How long operations may take. */
export interface Timeouts {
    readonly create?: string | undefined;
    readonly update?: string | undefined;
    readonly delete?: string | undefined;
}

/** A path such as `tags.env`, `ingress[2].fromPort`, `tags["a b"]` or, for all elements, `ingress[*].fromPort`. */
export type PropertyPath<Name extends PropertyKey> = Name extends string
    ? Name | `${Name}.${string}` | `${Name}[${string}`
    : never;
