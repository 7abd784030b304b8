// Server-sent events out of a stream of text (WHATWG HTML, section 9.2.6). EventSource does not say why it ends; a fetch
// does. Plain: no request is made here.

export interface StreamEvent {
  /** `message` where the event names none. */
  readonly type: string;
  readonly data: string;
  /** Null where the event has none: the place is still that of the last one that had. */
  readonly id: string | null;
}

/** Takes text in pieces of any size. */
export class EventReader {
  private rest = "";
  private type = "";
  private data: string[] = [];
  private id: string | null = null;

  /** @returns the events that this piece completes */
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
