import { type ExtractRequest, extract } from "./extract.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<ExtractRequest>) => {
  try {
    self.postMessage({ extract: await extract(data) });
  } catch (error) {
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
};
