/** The SHA-256 of content in lower-case hexadecimal digits (FIPS 180-4); of a text as UTF-8. */
export function sha256Of(content: string | Uint8Array): string {
  return Bun.CryptoHasher.hash("sha256", content, "hex");
}

/** The SHA-256 of content as bytes. */
export function sha256Bytes(content: string | Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(content).digest();
}
