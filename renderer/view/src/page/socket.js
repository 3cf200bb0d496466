// The connection to the server, which is made again whenever it is lost.

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5000;

export class Connection {
  // `opened`, `closed` (with the server's reason, if it has one), `message` (an object) and `frame` (an ArrayBuffer) are called.
  constructor(listeners) {
    this.listeners = listeners;
    this.pause = FIRST_PAUSE;
    this.open();
  }

  open() {
    this.socket = new WebSocket(new URL('socket', location.href.replace(/^http/, 'ws')));
    this.socket.binaryType = 'arraybuffer';
    this.socket.addEventListener('open', () => this.listeners.opened());
    this.socket.addEventListener('message', ({ data }) => this.receive(data));
    this.socket.addEventListener('close', ({ reason }) => this.retry(reason));
  }

  retry(reason) {
    this.listeners.closed(reason);
    setTimeout(() => this.open(), this.pause);
    this.pause = Math.min(LONGEST_PAUSE, 2 * this.pause);
  }

  // A server that turns a page away says nothing before.
  receive(data) {
    this.pause = FIRST_PAUSE;
    if (typeof data === 'string') this.listeners.message(JSON.parse(data));
    else this.listeners.frame(data);
  }

  // What is sent while there is no connection is lost: the server says anew what there is.
  send(type, values = {}) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ type, ...values }));
  }
}
