/** The version of this release and of the published package. */
export const version = "0.1.0";

/**
 * What a person types to run the command line: from the sources in a checkout, elsewhere from the
 * installed package.
 */
export const ownCommand = import.meta.path.endsWith(".ts") ? "bun manyhands" : "npx manyhands";
