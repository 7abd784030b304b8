// Rules for the type of a device: its own report, its neighbors' reports, open ports and vendors.

import { describe, expect, test } from "bun:test";
import { typeByNeighbors, typeByReport, typeFromOutside } from "../../src/discovery/device-types/classify.ts";
import { typeOfDescription } from "../../src/resources/hosts/device-families.ts";

const NET_SNMP = "1.3.6.1.4.1.8072.3.2.10";
const reported = (evidence: Parameters<typeof typeByReport>[0]) => {
  const concluded = typeByReport(evidence);
  return concluded === null ? null : `${concluded.device_type} by ${concluded.device_type_source}`;
};

describe("a device's own report", () => {
  test("a product name outranks the branch of the sysObjectID, which outranks plain words", () => {
    expect(reported({ sys_object_id: "1.3.6.1.4.1.14988.1", sys_descr: "RouterOS CRS317-1G-16S+" })).toBe(
      "Switch by Description",
    );
    expect(reported({ sys_object_id: "1.3.6.1.4.1.14988.1", sys_descr: "RouterOS RB750Gr3" })).toBe(
      "Router by ObjectId",
    );
    expect(
      reported({
        sys_object_id: "1.3.6.1.4.1.2636.1.1.1.2.41",
        sys_descr: "Juniper Networks, Inc. srx100h2 internet router",
      }),
    ).toBe("Firewall by Description");
    expect(reported({ sys_object_id: "1.3.6.1.4.1.99999.1", sys_descr: "Acme 8-port Gigabit Switch" })).toBe(
      "Switch by Description",
    );
  });

  test("the longest branch decides, and only whole numbers of it count", () => {
    expect(reported({ sys_object_id: "1.3.6.1.4.1.171.10.37.52" })).toBe("AccessPoint by ObjectId");
    expect(reported({ sys_object_id: "1.3.6.1.4.1.171.10.64.1" })).toBe("Switch by ObjectId");
    expect(reported({ sys_object_id: "1.3.6.1.4.1.318.1.3.42" })).toBeNull();
    expect(reported({ sys_object_id: "1.3.6.1.2.1.33" })).toBe("Ups by ObjectId");
    expect(reported({ sys_object_id: "1.3.6.1.2.1.331" })).toBeNull();
  });

  test("a host name in the description of an operating system is not its type", () => {
    const uname = (name: string) => `Linux ${name} 6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 x86_64`;
    for (const name of ["switch-7", "printer", "router.example.net", "fw-firewall", "ups"])
      expect(reported({ sys_object_id: NET_SNMP, sys_descr: uname(name) })).toBe("Server by Description");
  });

  test("Linux is a server on a PC with a generic agent, not on an appliance", () => {
    expect(reported({ sys_object_id: NET_SNMP, sys_descr: "Linux web 5.15.0 #1 SMP x86_64" })).toBe(
      "Server by Description",
    );
    expect(reported({ sys_object_id: NET_SNMP, sys_descr: "Linux box 4.4.9 #6 SMP armv7l" })).toBeNull();
    expect(reported({ sys_object_id: "1.3.6.1.4.1.99999.3", sys_descr: "Linux box 5.15.0 #1 SMP x86_64" })).toBeNull();
  });

  test("a switch that announces routing is a Layer3Switch", () => {
    const sg = { sys_object_id: "1.3.6.1.4.1.11.2.3.7.11.131", sys_descr: "HP 2620 Switch" };
    expect(reported(sg)).toBe("Switch by ObjectId");
    expect(reported({ ...sg, capabilities: ["Bridge", "Router"] })).toBe("Layer3Switch by ObjectId");
  });

  test("capabilities and layers decide only as far as they are evidence", () => {
    expect(reported({ capabilities: ["Bridge"] })).toBeNull();
    expect(reported({ capabilities: ["Bridge", "Telephone"] })).toBe("Phone by Capabilities");
    expect(reported({ capabilities: ["Bridge", "WlanAccessPoint", "Router"] })).toBe("AccessPoint by Capabilities");
    expect(reported({ capabilities: ["StationOnly"] })).toBe("Host by Capabilities");
    expect(reported({ capabilities: ["Router"] })).toBe("Router by Capabilities");
    expect(reported({ sys_services: 2 })).toBe("Switch by Services");
    expect(reported({ sys_services: 4 })).toBe("Router by Services");
    expect(reported({ sys_services: 6 })).toBe("Layer3Switch by Services");
    expect(reported({ sys_services: 72 })).toBe("Host by Services");
    for (const sys_services of [0, 64, 76, 78, 79, 127]) expect(reported({ sys_services })).toBeNull();
    expect(reported({})).toBeNull();
    expect(reported({ sys_descr: "", model: null, sys_object_id: "not an OID" })).toBeNull();
  });
});

describe("announcements typeFrom by neighbors", () => {
  const typeFrom = (...each: Parameters<typeof typeByNeighbors>[0]) => typeByNeighbors(each)?.device_type ?? null;

  test("take precedence in any order, the description before the capabilities", () => {
    const server = {
      described: typeOfDescription("Debian GNU/Linux 12 (bookworm) Linux 6.1.0-18-amd64 x86_64"),
      capabilities: ["Bridge", "Router"] as const,
    };
    expect(typeFrom(server)).toBe("Server");
    expect(typeFrom({ described: null, capabilities: ["Bridge", "Router"] })).toBe("Layer3Switch");
    expect(typeFrom({ described: null, capabilities: ["Bridge"] })).toBeNull();
    expect(typeFrom({ described: null, capabilities: ["Router", "Switch", "Igmp"] })).toBe("Layer3Switch");
    expect(typeFrom({ described: null, capabilities: ["Switch", "Igmp"] })).toBe("Switch");
    expect(
      typeFrom({
        described: typeOfDescription("Cisco IP Phone 8845"),
        capabilities: ["Host", "Phone", "TwoPortMacRelay"],
      }),
    ).toBe("Phone");
    expect(
      typeFrom({
        described: typeOfDescription("cisco AIR-CAP3702I-E-K9"),
        capabilities: ["Host", "TransparentBridge"],
      }),
    ).toBe("AccessPoint");
    const [first, second] = [
      { described: "Server", capabilities: [] },
      { described: "Router", capabilities: [] },
    ] as const;
    expect(typeFrom(first, second)).toBe(typeFrom(second, first));
  });
});

test("from outside, only two print ports or a vendor of a single device type decide", () => {
  const outside = (ports: number[], vendors: string[] = []) => {
    const concluded = typeFromOutside(ports, vendors);
    return concluded === null ? null : `${concluded.device_type} by ${concluded.device_type_source}`;
  };
  expect(outside([80, 515, 9100])).toBe("Printer by OpenPorts");
  expect(outside([22, 631])).toBeNull();
  expect(outside([], ["AXIS COMMUNICATIONS AB"])).toBe("Camera by Vendor");
  expect(outside([], ["YEALINK(XIAMEN) NETWORK TECHNOLOGY CO.,LTD."])).toBe("Phone by Vendor");
  expect(outside([443], ["Dell Inc.", "Cisco Systems, Inc"])).toBeNull();
});
