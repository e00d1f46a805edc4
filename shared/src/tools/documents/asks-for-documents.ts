/** File names and words, in any language that borrows them, that speak of a document. */
const speaks =
  /\.(?:pdf|docx|dotx|pptx|xlsx|xlsm|xlsb|xls|ods|odt|epub|eml|mbox|zip)\b|\b(?:pdf|docx|pptx|xlsx|epub|excel|powerpoint|spreadsheet|workbook|slides?|e-?book|scan(?:s|ned)?|word[- ](?:document|file))\b/i;

/** A result that names one of the tools points to it. */
const names = /\b(?:read|write)_document\b/;

/**
 * Whether words of a conversation call for the tools for documents: the user's, or the name of a
 * file they sent; of a tool's result only that it names such a tool.
 */
export function asksForDocuments(text: string, from: "user" | "result"): boolean {
  return (from === "user" ? speaks : names).test(text);
}
