/**
 * Text of at most `limit` characters: whole if it fits, otherwise its head and tail around a note
 * that names the file in which `spill` stored the full text.
 */
export async function boundText(
  text: string,
  limit: number,
  spill: (whole: string) => Promise<string>,
): Promise<string> {
  if (text.length <= limit) return text;
  const path = await spill(text);
  const note = `\n\n[${text.length - limit} of ${text.length} characters left out here; the whole is in ${path}]\n\n`;
  const half = Math.max(0, Math.floor((limit - note.length) / 2));
  // The cut may split a surrogate pair, which providers refuse.
  return text.slice(0, half).toWellFormed() + note + text.slice(text.length - half).toWellFormed();
}
