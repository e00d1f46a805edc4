/** The version of this release, which the package is published as. */
export const version = "0.1.0";

/**
 * What a person types to reach the command line: in a checkout its sources, elsewhere the installed
 * package.
 */
export const ownCommand = import.meta.path.endsWith(".ts") ? "bun manyhands" : "npx manyhands";
