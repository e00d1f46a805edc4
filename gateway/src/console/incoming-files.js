/** What a request may hold, with room for what base64 adds. */
const mostBytes = 7_000_000;

/**
 * Chosen files as they are sent: their content in base64. Rejects with an Error when they are too large for one request.
 *
 * @param {FileList} chosen
 * @returns {Promise<{ name: string, mediaType?: string, bytes: string }[]>}
 */
export async function incomingFiles(chosen) {
  const files = [...chosen];
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > mostBytes) throw new Error("The files are larger than 7 MB together; send links to them instead.");
  return Promise.all(
    files.map(async (file) => ({
      name: file.name,
      ...(file.type !== "" && { mediaType: file.type }),
      bytes: await base64(file),
    })),
  );
}

async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
