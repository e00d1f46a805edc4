/**
 * What survives a process: plain JSON. Step results, inputs, signals and events are of this shape.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
