/** One finding of the doctor: whether it is well and, where it is not, what to do. */
export type Check = { readonly name: string; readonly state: "ok" | "warn" | "fail"; readonly text: string };
