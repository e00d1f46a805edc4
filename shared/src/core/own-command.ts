/** What a person types to reach the command line: in a checkout its sources, elsewhere the installed package. */
export const ownCommand = import.meta.path.endsWith(".ts") ? "bun manyhands" : "npx manyhands";
