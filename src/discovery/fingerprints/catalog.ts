// All fingerprints, in the order tried on shared ports: specific before generic.

import { amqp } from "./amqp.ts";
import { couchdb } from "./couchdb.ts";
import { dns } from "./dns.ts";
import { docker } from "./docker.ts";
import { elasticsearch } from "./elasticsearch.ts";
import { etcd } from "./etcd.ts";
import type { Fingerprint } from "./fingerprint.ts";
import { ftp } from "./ftp.ts";
import { http, https } from "./http.ts";
import { imap, imaps } from "./imap.ts";
import { influxdb } from "./influxdb.ts";
import { kubernetes } from "./kubernetes.ts";
import { memcached } from "./memcached.ts";
import { mongodb } from "./mongodb.ts";
import { mssql } from "./mssql.ts";
import { mysql } from "./mysql.ts";
import { nats } from "./nats.ts";
import { pop3, pop3s } from "./pop3.ts";
import { postgresql } from "./postgresql.ts";
import { prometheus } from "./prometheus.ts";
import { rdp } from "./rdp.ts";
import { redis } from "./redis.ts";
import { rsync } from "./rsync.ts";
import { rtsp } from "./rtsp.ts";
import { smtp, smtps } from "./smtp.ts";
import { ssh } from "./ssh.ts";
import { telnet } from "./telnet.ts";
import { vnc } from "./vnc.ts";

export const FINGERPRINTS: readonly Fingerprint[] = [
  ssh,
  ftp,
  smtp,
  smtps,
  pop3,
  pop3s,
  imap,
  imaps,
  telnet,
  vnc,
  rsync,
  nats,
  mysql,
  postgresql,
  redis,
  memcached,
  mongodb,
  mssql,
  rdp,
  amqp,
  dns,
  rtsp,
  docker,
  elasticsearch,
  couchdb,
  influxdb,
  prometheus,
  etcd,
  kubernetes,
  http,
  https,
];
