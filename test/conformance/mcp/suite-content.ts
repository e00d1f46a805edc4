/** Content that the suite's scenarios ask for. */
export const text = (words: string) => ({ type: "text", text: words }) as const;

export const image = {
  type: "image",
  data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
  mimeType: "image/png",
} as const;

export const audio = {
  type: "audio",
  data: "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=",
  mimeType: "audio/wav",
} as const;

export const resource = (uri: string, mimeType: string, words: string) =>
  ({ type: "resource", resource: { uri, mimeType, text: words } }) as const;

/** How often the suite made the lists change. */
export const suiteChanges = { tools: 0, prompts: 0 };
