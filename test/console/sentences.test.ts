// Changes of a transaction as sentences: singular and plural, names and counts, old and new values.

import { describe, expect, test } from "bun:test";
import { type PhrasePiece, phrasesOf } from "../../src/console/history/sentences.ts";
import { changesText } from "../../src/console/text/changes.ts";

type Highlights = Parameters<typeof phrasesOf>[0];
type Change = Highlights["changes"][number];
type Rest = Highlights["rest"][number];

const host = (name: string) => ({ id: `host ${name}`, name });
const created = (entity_type: "host" | "ip_address" | "port", name: string, owner?: string): Change => ({
  type: "Created",
  entity_type,
  id: `${entity_type} ${name}`,
  name,
  host: owner === undefined ? null : host(owner),
  fields: [],
});
const deleted = (...args: Parameters<typeof created>): Change => ({ ...created(...args), type: "Deleted" }) as Change;
const port = (name: string, owner: string, ...fields: readonly [string, unknown, unknown][]): Change => ({
  type: "Updated",
  entity_type: "if_entry",
  id: `port ${name} ${owner}`,
  name,
  host: host(owner),
  fields: fields.map(([field, from, to]) => ({ field, from, to })),
});
const down = (name: string, owner: string) => port(name, owner, ["oper_status", "Up", "Down"]);
const rest = (
  entity_type: Rest["entity_type"],
  operation: Rest["operation"],
  count: number,
  field: string | null = null,
): Rest => ({ entity_type, operation, field, count });

/** Displayed text; links in brackets, old and new values in angle brackets. */
function render(changes: readonly Change[], others: readonly Rest[] = [], hostId?: string): string[] {
  const pieceText = (piece: PhrasePiece) => {
    if (typeof piece === "string") return piece;
    if (piece.piece === "mac") return `[${piece.mac}]`;
    if (piece.piece === "value") return piece.side === "from" ? `<-${piece.value}>` : `<${piece.value}>`;
    return `[${piece.name ?? piece.id}${piece.isGone ? " before" : ""}]`;
  };
  return phrasesOf({ changes: [...changes], rest: [...others] }, hostId).map(({ pieces }) =>
    pieces.map(pieceText).join(""),
  );
}

describe("a day's summary", () => {
  test.each([
    [{ created: 1, updated: 4, deleted: 0 }, "1 host added, 4 host changes"],
    [{ created: 0, updated: 1, deleted: 2 }, "1 host change, 2 hosts removed"],
  ])("counts changes if they may all be of one record: %p", (counts, sentence) => {
    expect(changesText.day("host", counts)).toBe(sentence);
  });
});

describe("a transaction's summary", () => {
  test("names new and deleted records, up to a limit, and counts the rest", () => {
    expect(render([created("host", "web-1")])).toEqual(["new host [web-1]"]);
    expect(render([created("host", "a"), created("host", "b")])).toEqual(["2 new hosts: [a] and [b]"]);
    expect(render(["a", "b", "c", "d"].map((name) => created("host", name)))).toEqual([
      "4 new hosts: [a], [b], [c] and [d]",
    ]);
    expect(render(["a", "b", "c", "d", "e"].map((name) => deleted("host", name)))).toEqual([
      "5 hosts gone: [a before], [b before], [c before] and 2 more",
    ]);
    expect(render([deleted("host", "a")])).toEqual(["host [a before] gone"]);
  });

  test("names the host of parts, once if they share it", () => {
    expect(render([created("port", "22/Tcp", "web"), created("port", "443/Tcp", "web")])).toEqual([
      "2 new ports of [web]: [22/Tcp] and [443/Tcp]",
    ]);
    expect(render([created("ip_address", "10.0.0.1", "a"), created("ip_address", "10.0.0.2", "b")])).toEqual([
      "2 new addresses: [10.0.0.1] of [a] and [10.0.0.2] of [b]",
    ]);
    expect(render([deleted("ip_address", "10.0.0.1", "a")], [rest("ip_address", "Deleted", 1_200)])).toEqual([
      "1,201 addresses gone: [10.0.0.1 before] of [a] and 1,200 more",
    ]);
  });

  test("groups ports by device and change, and manual changes of them", () => {
    expect(
      render([down("Gi1/0/1", "sw"), down("Gi1/0/2", "sw"), down("Gi1/0/3", "sw"), down("Gi1/0/1", "other")]),
    ).toEqual(["[Gi1/0/1], [Gi1/0/2] and [Gi1/0/3] of [sw] down", "[Gi1/0/1] of [other] down"]);
    expect(render([port("Gi1/0/1", "sw", ["admin_status", "Up", "Down"], ["oper_status", "Up", "Down"])])).toEqual([
      "[Gi1/0/1] of [sw] disabled",
    ]);
    expect(render([port("Gi1/0/1", "sw", ["oper_status", "Down", "Up"], ["admin_status", "Down", "Up"])])).toEqual([
      "[Gi1/0/1] of [sw] up",
    ]);
    expect(render([down("Gi1/0/1", "sw")], [rest("if_entry", "Updated", 4, "oper_status")])).toEqual([
      "[Gi1/0/1] of [sw] down",
      "4 more interfaces up or down",
    ]);
  });

  test("reports moved stations and addresses", () => {
    const [from, to] = [
      { id: "p1", name: "Gi1/0/7", host: host("access-4") },
      { id: "p2", name: "Gi1/0/9", host: host("access-5") },
    ];
    const moved = { type: "StationMoved", mac_address: "00:00:5e:00:53:01", station: null, from, to } as const;
    expect(render([moved])).toEqual([
      "[00:00:5e:00:53:01] moved from [Gi1/0/7] of [access-4] to [Gi1/0/9] of [access-5]",
    ]);
    expect(render([{ ...moved, station: host("laptop") }], [], "host access-4")).toEqual([
      "[laptop] moved from [Gi1/0/7] to [Gi1/0/9] of [access-5]",
    ]);
    expect(
      render([{ type: "AddressMoved", id: "x", ip_address: "10.0.0.7", from: host("old"), to: host("new") }]),
    ).toEqual(["[10.0.0.7] went from [old] to [new]"]);
  });

  test("shows fields old to new with reference names, and additions and removals of lists", () => {
    const vlan = (name: string) => ({ id: `id of ${name}`, name });
    expect(
      render([port("Gi1/0/1", "sw", ["speed_bps", 1e10, 1e9], ["native_vlan_id", vlan("20 Staff"), null])]),
    ).toEqual(["[Gi1/0/1] of [sw]: speed <-10G> → <1G>, native VLAN <-20 Staff> → <none>"]);
    const [staff, voice, guests] = [vlan("20"), vlan("40"), vlan("70")];
    expect(render([port("Gi1/0/1", "sw", ["vlan_ids", [staff, voice], [voice, guests]])])).toEqual([
      "[Gi1/0/1] of [sw]: VLANs <+70> <-−20>",
    ]);
    const [old, latest] = ["17.9.4a", "17.12.3"].map(
      (version) => `${"Switch Software ".repeat(4)}, Version ${version}`,
    );
    expect(render([port("Gi1/0/1", "sw", ["lldp_sys_desc", old, latest])])).toEqual([
      "[Gi1/0/1] of [sw]: LLDP system description <-…17.9.4a> → <…17.12.3>",
    ]);
    const changedFields = [
      { field: "name", from: "a", to: "x".repeat(80) },
      { field: "hidden", from: false, to: true },
      { field: "description", from: "", to: "c" },
    ];
    const updated: Change = {
      type: "Updated",
      entity_type: "host",
      id: "h",
      name: "web",
      host: null,
      fields: changedFields,
    };
    const value = `${"x".repeat(60)}…`;
    expect(render([updated])).toEqual([`[web]: name <-a> → <${value}>, hidden <-no> → <yes> and 1 more field`]);
    expect(render([updated], [], "h")).toEqual([`name <-a> → <${value}>, hidden <-no> → <yes> and 1 more field`]);
    expect(render([{ ...updated, entity_type: "subnet", fields: [{ field: "custom_fields" }] }])).toEqual([
      "subnet [web]: custom fields changed",
    ]);
  });

  test("reports hosts no longer seen and hosts seen again, in one line each", () => {
    const stale = (name: string, to: string | null): Change => ({
      type: "Updated",
      entity_type: "host",
      id: name,
      name,
      host: null,
      fields: [{ field: "stale_since", from: null, to }],
    });
    const at = "2026-11-01T00:00:00.000Z";
    expect(render([stale("a", at), stale("b", at), stale("c", null)])).toEqual([
      "2 hosts no longer seen: [a] and [b]",
      "host [c] seen again",
    ]);
    expect(render([stale("a", at)], [rest("ip_address", "Updated", 3, "stale_since")])).toEqual([
      "host [a] no longer seen",
    ]);
  });

  test("counts unnamed changes, without those implied by others", () => {
    expect(
      render(
        [],
        [
          rest("if_entry", "Updated", 6, "fdb_macs"),
          rest("if_entry", "Created", 105),
          rest("service", "Deleted", 1),
          rest("binding", "Created", 2),
          rest("if_entry", "Updated", 1, "lldp_mgmt_addr"),
        ],
      ),
    ).toEqual([
      "MAC addresses at 6 interfaces",
      "105 new interfaces",
      "1 service gone",
      "LLDP management address of 1 interface",
    ]);
    expect(render([], [rest("binding", "Created", 1)])).toEqual(["1 new binding"]);
    expect(render([], [])).toEqual([]);
  });
});
