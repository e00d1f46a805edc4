/** Plain JSON: what outlives a process. Step results, inputs, signals and events have this type. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
