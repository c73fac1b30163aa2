import type { Resource } from "./resource.js";

/**
 * Options for how an engine handles a resource. `Name` is the union of the names of settable properties. Without a type
 * argument, the options apply to any resource.
 */
export interface ResourceOptions<Name extends PropertyKey = never> {
    /** Former names or URNs of the resource. Without an alias, a renamed resource is treated as a new one. */
    readonly aliases?: readonly string[] | undefined;
    /**
     * Whether a replacement deletes the old resource before creating the new one. By default, the provider decides, and
     * a resource that keeps its name is deleted first; `false` creates first even then.
     */
    readonly deleteBeforeReplace?: boolean | undefined;
    /** Resources to create before this one and delete after it, in addition to those that its properties refer to. */
    readonly dependsOn?: readonly Resource[] | undefined;
    /** Paths of properties whose changes are ignored once the resource exists. */
    readonly ignoreChanges?: readonly PropertyPath<Name>[] | undefined;
    /** The id of an existing resource to import instead of creating one. */
    readonly import?: string | undefined;
    /** Whether to refuse deployments that would delete or replace the resource. */
    readonly protect?: boolean | undefined;
    /** Paths of properties whose changes require a replacement. */
    readonly replaceOnChanges?: readonly PropertyPath<Name>[] | undefined;
    /** Whether to keep the actual resource when it is removed from the program or replaced. */
    readonly retainOnDelete?: boolean | undefined;
    /** Timeouts of operations, such as `90s`, `10m`, or `1h30m`. */
    readonly timeouts?: Timeouts | undefined;
}

/** Timeouts of operations. */
export interface Timeouts {
    readonly create?: string | undefined;
    readonly update?: string | undefined;
    readonly delete?: string | undefined;
}

/** The path of a property, such as `tags.env`, `ingress[2].fromPort`, `tags["a b"]`, or `ingress[*].fromPort`. */
export type PropertyPath<Name extends PropertyKey> = Name extends string
    ? Name | `${Name}.${string}` | `${Name}[${string}`
    : never;
