/** The revisions of 2025, or that of 2026. */
export type Era = "legacy" | "modern";
