/** The algorithms of a home's keys. */
export const keyAlgorithms = ["ES256", "EdDSA"] as const;

/** One of them. */
export type KeyAlgorithm = (typeof keyAlgorithms)[number];
