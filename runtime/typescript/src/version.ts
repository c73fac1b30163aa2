/** The version of this package. */
export const version = "0.1.0";

/** The generations of generated code that this version works with. What cidlc emits says of which generation it is. */
const oldest = 2;
const newest = 3;

/** Throws if generated code of the given generation does not work with this version of the package. */
export function requireGeneration(generation: number): void {
    if (generation >= oldest && generation <= newest) {
        return;
    }
    const remedy =
        generation > newest ? "install a newer @lumi/lumi" : "generate the package again with the cidlc of this version";
    throw new Error(
        `@lumi/lumi ${version} works with generated code of generation ` +
            `${oldest} to ${newest}, not with ${generation}: ${remedy}`,
    );
}
