/**
 * The frames of a stream of server-sent events as they come: `id` where a frame has one. Comments only show that the stream lives. Rejects
 * when nothing at all came for `silenceMs`.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {number} silenceMs
 * @returns {AsyncGenerator<{ id?: string, event?: string, data: string }>}
 */
export async function* eventFrames(body, silenceMs) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await withinTime(reader.read(), silenceMs);
      if (done) return;
      const blocks = (text + value).split(/\r?\n\r?\n/);
      text = blocks.pop();
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame.data !== undefined) yield frame;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function frameOf(block) {
  const frame = {};
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = /^(id|event|data): ?(.*)$/.exec(line) ?? [];
    if (field === "data" && frame.data !== undefined) frame.data += `\n${value}`;
    else if (field !== undefined) frame[field] = value;
  }
  return frame;
}

async function withinTime(work, milliseconds) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("The stream fell silent.")), milliseconds);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}
