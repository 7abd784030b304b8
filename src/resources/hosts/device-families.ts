// Device types by sysObjectID and by keywords of a description, from vendors' product MIBs and data sheets. Omits
// generic agents (net-snmp, enterprise 8072) and enterprises with several types of product: they prove nothing.

import type { DeviceType } from "./device-type.ts";

/** A branch below 1.3.6.1.4.1; the longest match for a sysObjectID wins. */
type Branch = readonly [type: DeviceType, ...branches: string[]];

const BRANCHES: readonly Branch[] = [
  // CISCO-PRODUCTS-MIB numbers products in one list; only Nexus chassis (CISCO-ENTITY-VENDORTYPE) have their own branch.
  ["Layer3Switch", "9.12.3.1.3"],
  ["WirelessController", "14179.1.1.4"],
  // HP-ICF-OID (ProCurve), 3COM-PRODUCTS-MIB, ARUBAWIRED (AOS-CX), HP printers, MSA, rack PDUs and UPSes (CPQPOWER-MIB).
  ["Switch", "11.2.3.7.11", "11.2.3.7.8.5", "43.10.27", "43.1.8"],
  ["Layer3Switch", "47196.4.1.1.1"],
  ["Printer", "11.2.3.9.1"],
  ["Storage", "11.2.51"],
  ["Pdu", "232.165.1", "232.165.2", "232.165.5", "232.165.7", "232.165.11"],
  ["Ups", "232.165.3"],
  ["Server", "11.2.3.2"],
  // ARUBA-MIB: controllers below 1.1, access points below 1.2.
  ["WirelessController", "14823.1.1"],
  ["AccessPoint", "14823.1.2"],
  // Juniper: JUNOS EX and QFX (jnxProductVariation), JUNOSe, ScreenOS, Trapeze.
  ["Switch", "2636.1.1.1.4"],
  ["Router", "4874.1.1"],
  ["Firewall", "3224.1"],
  ["WirelessController", "14525.3"],
  // HUAWEI-MIB product numbers; H3C has switches and routers in one list.
  ["Switch", "2011.2.23"],
  ["Router", "2011.2.62", "2011.2.88", "2011.2.224", "2011.2.360"],
  ["WirelessController", "2011.2.240"],
  ["Storage", "2011.2.91"],
  // Nokia TIMETRA-CHASSIS; Alcatel-Lucent Enterprise OmniSwitch, controllers and Stellar access points.
  ["Router", "6527.1", "6527.6"],
  ["Switch", "6486.800.1.1.2.1", "6486.800.1.1.2.2.4", "6486.801.1.1.2"],
  ["WirelessController", "6486.800.1.1.2.2.2"],
  ["AccessPoint", "6486.802.1.1.2.1"],
  // Access nodes (Broadband Forum TR-101: DSLAMs and OLTs bridge subscribers' lines), and Ethernet demarcation (MEF).
  ["Switch", "890.1.5.13", "2011.2.80", "2011.2.123", "3320.1", "3902.1004", "3902.1012", "3902.1015", "3902.1082"],
  ["Switch", "2544.1.12.1", "5504.1", "5875.800", "6296.1", "8886.6", "8886.18", "8886.23", "37950.1.1.5.10"],
  // Other switches.
  ["Switch", "45.3", "52", "171.10", "207.1.4", "248.14", "259.6", "259.8", "259.10", "266.1.3", "674.10895"],
  ["Switch", "674.11000.5000.100.2", "890.1.5.8", "890.1.5.18", "1588.2.1.1", "1588.3.3.1", "1916.2", "2272"],
  ["Switch", "2356.16", "4526.100.1", "4526.100.4", "4526.100.11", "4881.1.1.10.1", "5624.2.1", "6027.1"],
  ["Switch", "8691.7", "8691.600", "9304", "11863.5", "12356.106", "14988.2", "20540.2", "21839.1.2", "28381"],
  ["Switch", "3709.1.2", "4467.1000", "27975.99", "33049.1", "35098.1", "35265.1", "43191.1", "52642.1"],
  ["Layer3Switch", "207.1.14", "30065.1.3011", "40310"],
  // Other routers. RouterOS also runs on switches, whose models are recognized by the keywords below.
  ["Router", "119.1.84", "207.1.1", "2007.1", "2356.11", "7262.3", "13191.1", "14988.1", "24693.1", "27662", "41916.3"],
  ["Router", "193.218", "4130.10", "23867.1", "41112.1.5"],
  // Firewalls: Fortinet FortiGate (FORTINET-CORE-MIB), Palo Alto, Check Point, SonicWall, WatchGuard, Sophos and others.
  ["Firewall", "12356.101", "12356.15", "25461", "2620.1", "8741", "3097", "21067.2", "2604", "10704.1", "28557.1"],
  ["Firewall", "12356.105", "12356.107"],
  ["AccessPoint", "12356.120", "2356.13", "8691.15", "21013.1", "25053.3.1.4", "25053.3.1.5", "26928.1", "388.11"],
  ["AccessPoint", "171.10.37"],
  ["WirelessController", "4329.15.1", "8744.1.47", "15983.1", "25053.3.1.10", "25053.3.1.11"],
  // Printers, by the print branch of each manufacturer.
  ["Printer", "236.11.5", "253.8", "297.1.11", "367.1", "641", "683.6", "1129.2.3", "1248.1", "1347.4", "1602.4"],
  ["Printer", "2001.1", "2385.3", "2435.2.3.9", "10642", "18334.1.1", "674.10898"],
  ["Camera", "368.1"],
  ["Phone", "6889.1.69", "13885.102", "37049", "7526.11"],
  // Storage.
  ["Storage", "789", "1714.1", "6574", "12740.17", "14851", "14941", "19746.3", "24681", "40482", "50536.3", "55062"],
  ["Storage", "347", "674.10893.2", "1139", "3764.1", "37447"],
  // UPSes: PowerNet-MIB (APC), XUPS-MIB, MG-SNMP-UPS-MIB, UPS-MIB (RFC 1628) itself and others.
  ["Ups", "318.1.3.1", "318.1.3.2", "318.1.3.3", "318.1.3.5", "318.1.3.27", "318.1.3.28", "318.1.3.33", "534.1"],
  ["Ups", "674.10902", "705.1", "850.1.1.1", "935.1", "935.10", "2254.2", "2468.1.2", "3808.1.1.1", "4555.1"],
  ["Ups", "5491", "13891.101"],
  ["Pdu", "318.1.3.4", "534.6.6", "1718.3", "1718.4", "2468.1.4", "3808.1.1.3", "4555.2", "10418.17", "13742"],
  ["Pdu", "17420.1", "19536.10", "21239.42", "31034", "38446", "42610.1.4", "15117.1", "39145.10"],
  // A rack transfer switch is a PDU with two inlets.
  ["Pdu", "318.1.3.32", "534.10"],
  // Servers: Windows server and domain controller (311.1.1.3.1.1 is a workstation), ESXi, AIX, IBM i, Solaris.
  ["Server", "311.1.1.3.1.2", "311.1.1.3.1.3", "6876.4", "2.3.1.2.1.1", "2.6.11", "42.2.1.1", "12356.102", "12356.103"],
  ["Server", "2440", "30155.23"],
  ["Host", "311.1.1.3.1.1"],
  // Management controllers of servers: iLO, iDRAC, iRMC, iBMC.
  ["Server", "232.9.4", "674.10892", "231.1.28", "2011.2.235"],
];

/** UPS-MIB (RFC 1628), which some UPS adapters give as their sysObjectID. */
const UPS_MIB = "1.3.6.1.2.1.33";
const ENTERPRISES = "1.3.6.1.4.1.";

const TYPE_OF = new Map(BRANCHES.flatMap(([type, ...branches]) => branches.map((branch) => [branch, type] as const)));

/** Type of a sysObjectID, dotted; null if its branch is not in the table. */
export function typeOfObjectId(objectId: string): DeviceType | null {
  if (objectId === UPS_MIB || objectId.startsWith(`${UPS_MIB}.`)) return "Ups";
  if (!objectId.startsWith(ENTERPRISES)) return null;
  for (let branch = objectId.slice(ENTERPRISES.length); branch !== ""; ) {
    const type = TYPE_OF.get(branch);
    if (type !== undefined) return type;
    branch = branch.slice(0, Math.max(0, branch.lastIndexOf(".")));
  }
  return null;
}

type Words = readonly [type: DeviceType, words: RegExp];

/** Product lines, which outrank the branch of the sysObjectID. */
const PRODUCTS: readonly Words[] = [
  // Agents of a vendor's other products, physical and virtual, before the keywords for its main product line.
  ["Phone", /\bip[ -]?(desk)?phone\b|\bCP-[789]\d{3}\b|\bSPA[359]\d\d\b|\b(yealink|snom|polycom vvx)\b/i],
  ["Firewall", /adaptive security appliance|firepower|\bASA ?55\d\d|\bPIX\b|\bpfSense\b|\bOPNsense\b|\bsrx\d{3}/i],
  ["Firewall", /\b(USG|ATP|ZyWALL)[ -]?(FLEX|\d)|\bMeraki MX\d|\bsonicwall\b|\bPA-\d{3,4} series/i],
  ["WirelessController", /cisco controller$|\b(AIR-CT|C98\d\d-|NXC\d{4})|arubaos \(model|aruba ?mc|\bOAW-[46]\d{3}/i],
  ["WirelessController", /(wireless|wlan|mobility) (lan )?controller/i],
  [
    "AccessPoint",
    /\bMeraki MR\d|\b(AIR-(L|C)?AP|C91\d\d|IW\d{4}|WAP\d{3}|UAP|U[67]-(LR|Pro|Lite|Plus|Mesh|IW)|NWA\d|GWN76\d\d|OAW-AP|DAP-\d|AWK-)/i,
  ],
  ["AccessPoint", /access point\b|\bmesh point\b|\blancom (OAP|IAP|LN?|OW|LX|LW)-|^canopy .* AP$/i],
  ["Switch", /\bMeraki MS\b|\bMeraki MS\d|\bC(R|S)S\d{3}|\bUSW\b|\bUS-\d|\bEdgeSwitch|\bqfx\d{4}/i],
  ["Switch", /\b(D[EGX]S-\d{4}|(GS|XGS|MGS|GES|XS)-?\d{4}\b|GWN78\d\d|TSW\d{3})/i],
  ["Switch", /\b(C29\d\d|C1000|IE-?\d{4}|SG\d{3}|SF\d{3}|SGE\d{4}|CBS\d{3}|C1200)/i],
  [
    "Layer3Switch",
    /\bcatalyst l3\b|catalyst 4500|\b(C3[5678]\d\d|C9[23456]00|CAT9K|cat4500|s72033)|\bNX-OS|\bSONiC\b/i,
  ],
  ["Layer3Switch", /\bdell networking os\b|\bforce10\b|cumulus/i],
  [
    "Router",
    /\bIOS XR\b|\b(ASR\d|ISR\d?|IR\d{3,4}|C[12789]\d00|CSR1000)|routing switch router|\bTiMOS\b|\bOcNOS\b|\bvyos\b|\bvelocloud edge/i,
  ],
  [
    "Router",
    /\bteltonika\b|\bRUT[XM]?\d{2,3}|\bTRB\d{3}|\bkeenetic|\bnetiron\b|\b(mx|ptx|acx)\d+[a-z-]* (internet )?router/i,
  ],
  ["Storage", /\b(powervault|compellent|oceanstor|data domain|freenas|truenas|diskstation|quantastor)\b|\bemc me\d/i],
  ["Storage", /\btape library\b|-rubrik/i],
];

/** Keywords for the type of device, used by all vendors. */
const KINDS: readonly Words[] = [
  ["Firewall", /\bfirewall\b|\bsecur(ity|e) (appliance|(web |email )?gateway)\b/i],
  ["Printer", /\bprinter\b|print ?server|\b(laser|office|desk)jet\b|\bMFP\b|\bbizhub\b/i],
  ["Camera", /\bcamera\b/i],
  ["Pdu", /\bIPM-\d{4}\b|\b(i?PDU|CDU|ePDU|maPDU)\d?\b|power distribution unit|pdu\d*-/i],
  ["Ups", /\bUPS\b|\bsmart-ups\b|upscontroller|uninterruptible/i],
  ["Layer3Switch", /\b(layer[- ]?3|L3|routing) [\w ]{0,24}switch\b|\brouter\/switch\b/i],
  ["Switch", /\bswitch\b|rackswitch/i],
  ["Router", /\brouter\b|\bCPE\b.*\bgateway\b|\bCMTS\b/i],
];

/** Operating systems of servers and workstations; not Linux on the CPUs of appliances. */
const SYSTEMS: readonly Words[] = [
  [
    "Server",
    /^linux \S+ .*\b(x86_64|amd64|i[3456]86|ppc64(le)?|s390x)\b|\bVMware ESXi?\b|\bwindows server\b|^openbsd\b/i,
  ],
  ["Server", /\b(debian|ubuntu|red hat|rocky|alma ?linux|centos|suse)\b/i],
  ["Host", /\bwindows\b|\bmac ?os\b|\bdarwin\b/i],
];

export function typeOfProduct(text: string): DeviceType | null {
  return typeIn(PRODUCTS, text);
}

export function typeOfKindWords(text: string): DeviceType | null {
  return typeIn(KINDS, text);
}

export function typeOfSystem(text: string): DeviceType | null {
  return typeIn(SYSTEMS, text);
}

/** Cached: all switches of one model and version announce the same description. */
const KNOWN_MAX = 1_000;
const known = new Map<string, DeviceType | null>();

/** Type by the description that a device announces: lldpRemSysDesc or cdpCachePlatform. */
export function typeOfDescription(text: string | undefined): DeviceType | null {
  if (text === undefined) return null;
  let type = known.get(text);
  if (type === undefined) {
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(text, (type = typeOfProduct(text) ?? typeOfKindWords(text) ?? typeOfSystem(text)));
  }
  return type;
}

/**
 * `Linux <host name> <release> …`, as from uname: the host name may match any keyword, so it is skipped unless the
 * vendor assigned it.
 */
const HOST_NAME = /^(Linux|FreeBSD|OpenBSD|NetBSD|SunOS|Darwin) (?!Teltonika|RUT[MX]?\d)\S+ /;

function typeIn(table: readonly Words[], text: string): DeviceType | null {
  const nameless = text.replace(HOST_NAME, "$1 - ");
  return table.find(([, words]) => words.test(nameless))?.[0] ?? null;
}
