/** The version of this package. */
export const version = "0.1.0";

/** The range of supported generations of generated code. cidlc records the generation in its output. */
const oldest = 2;
const newest = 4;

/** Throws an `Error` if this version of the package does not support the given generation of generated code. */
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
