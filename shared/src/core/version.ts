/** The version of this release, which the package is published as. */
export const version = "0.1.0";
