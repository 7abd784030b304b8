// Netlink message format (netlink(7)): request framing, and messages and attributes of a response. Pure; opens no
// socket and does not interpret messages.

/** Netlink uses host byte order: little-endian on all supported platforms (x64, arm64). */
export const LITTLE_ENDIAN = true;

/** Requests all items instead of one. */
export const NLM_F_DUMP = 0x300;

/** struct nlmsghdr: length 4, type 2, flags 2, sequence 4, port 4. */
const HEADER_BYTES = 16;
/** struct rtattr: length 2, type 2. */
const ATTRIBUTE_HEADER_BYTES = 4;

const NLM_F_REQUEST = 0x001;
const NLM_F_DUMP_INTR = 0x010;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;

/** Control data common to all responses. */
export interface ResponseEnd {
  /** True if the dump ends with this datagram. */
  isLast: boolean;
  /** True if the listed data changed during the dump: items may be missing, so repeat the request. */
  isInterrupted: boolean;
  /** errno of the kernel's error response; null if none. */
  refusedErrno: number | null;
}

/** Message or attribute. */
interface NetlinkRecord {
  type: number;
  /** Start and end offset of the content in the view. */
  body: number;
  end: number;
}

/** Builds one request. @param body the family header (struct ifaddrmsg, ndmsg, rtmsg …), then the attributes */
export function netlinkRequest(type: number, flags: number, body: Uint8Array): Uint8Array {
  const request = new Uint8Array(HEADER_BYTES + body.length);
  const view = new DataView(request.buffer);
  view.setUint32(0, request.length, LITTLE_ENDIAN);
  view.setUint16(4, type, LITTLE_ENDIAN);
  view.setUint16(6, NLM_F_REQUEST | flags, LITTLE_ENDIAN);
  view.setUint32(8, 1, LITTLE_ENDIAN);
  request.set(body, HEADER_BYTES);
  return request;
}

/** Builds a padded attribute for a request. */
export function netlinkAttribute(type: number, value: Uint8Array): Uint8Array {
  const attribute = new Uint8Array((ATTRIBUTE_HEADER_BYTES + value.length + 3) & ~3);
  const view = new DataView(attribute.buffer);
  view.setUint16(0, ATTRIBUTE_HEADER_BYTES + value.length, LITTLE_ENDIAN);
  view.setUint16(2, type, LITTLE_ENDIAN);
  attribute.set(value, ATTRIBUTE_HEADER_BYTES);
  return attribute;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Checks whether and how the datagram ends the response. Stops at a truncated message. */
export function responseEnd(view: DataView): ResponseEnd {
  const result: ResponseEnd = { isLast: false, isInterrupted: false, refusedErrno: null };
  for (const { start, end, type } of records(view, 0, HEADER_BYTES, 4, view.byteLength)) {
    const body = start + HEADER_BYTES;
    if (view.getUint16(start + 6, LITTLE_ENDIAN) & NLM_F_DUMP_INTR) result.isInterrupted = true;
    if (type === NLMSG_DONE) result.isLast = true;
    if (type === NLMSG_ERROR && end - body >= 4) result.refusedErrno = -view.getInt32(body, LITTLE_ENDIAN);
  }
  return result;
}

/** Yields the messages of a datagram; stops at a truncated one. */
export function* netlinkMessages(view: DataView): Generator<NetlinkRecord> {
  for (const { start, end, type } of records(view, 0, HEADER_BYTES, 4, view.byteLength))
    yield { type, body: start + HEADER_BYTES, end };
}

/** Yields the attributes between two offsets of a message; stops at a truncated one. */
export function* netlinkAttributes(view: DataView, from: number, to: number): Generator<NetlinkRecord> {
  for (const { start, end, type } of records(view, from, ATTRIBUTE_HEADER_BYTES, 2, to))
    yield { type, body: start + ATTRIBUTE_HEADER_BYTES, end };
}

/** Returns the content of a message or attribute, without copying it. */
export function bytesOf(view: DataView, record: NetlinkRecord): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + record.body, record.end - record.body);
}

/**
 * Common layout of messages and attributes: a length of `lengthBytes` that includes the header, then the type; each
 * record padded to four bytes.
 */
function* records(view: DataView, from: number, headerBytes: number, lengthBytes: 2 | 4, to: number) {
  for (let start = from; start + headerBytes <= to; ) {
    const length = lengthBytes === 2 ? view.getUint16(start, LITTLE_ENDIAN) : view.getUint32(start, LITTLE_ENDIAN);
    if (length < headerBytes || start + length > to) return;
    yield { start, end: start + length, type: view.getUint16(start + lengthBytes, LITTLE_ENDIAN) };
    start += (length + 3) & ~3;
  }
}
