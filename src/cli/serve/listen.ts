import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";

/** How many ports are tried where the caller asks for none. */
const PORTS_TRIED = 50;

export interface Place {
  readonly host: string;
  readonly port: number;
  /** Only this port will do. */
  readonly fixed: boolean;
}

const once = (server: Server, host: string, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });

/** Returns the port that the server listens on, the next free one where it is not fixed. Throws InputError. */
export async function listen(server: Server, { host, port, fixed }: Place): Promise<number> {
  for (let tried = port; ; tried++) {
    try {
      return await once(server, host, tried);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EADDRINUSE" && !fixed && tried < port + PORTS_TRIED) continue;
      if (code === "EADDRINUSE")
        throw new InputError(optionName("port"), fixed ? "a free port" : `a free port from ${port} to ${tried}`, tried);
      if (code === "EACCES") throw new InputError(optionName("port"), "a port that may be used (from 1024 on)", tried);
      throw new InputError(optionName("host"), `an address of this machine (${message})`, host);
    }
  }
}
