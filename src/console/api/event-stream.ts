// Parser for server-sent events (WHATWG HTML, 9.2.6), for fetch: an EventSource does not report why it ends.

export interface StreamEvent {
  /** `message` for an unnamed event. */
  readonly type: string;
  readonly data: string;
  /** Null if the event has none; the position then stays that of the last event with an id. */
  readonly id: string | null;
}

/** Accepts text in chunks of any size. */
export class EventReader {
  private rest = "";
  private type = "";
  private data: string[] = [];
  private id: string | null = null;

  /** @returns events completed by this chunk */
  read(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.readLine(line);
      else {
        if (this.data.length > 0)
          events.push({ type: this.type || "message", data: this.data.join("\n"), id: this.id });
        [this.type, this.data, this.id] = ["", [], null];
      }
    }
    return events;
  }

  private readLine(line: string): void {
    const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "event") this.type = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id") this.id = value;
  }
}
