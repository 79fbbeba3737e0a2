/* Search from a folder: browsers refuse workers there, so the index is searched in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.onmessage = this.onerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "Search"
      document.body.appendChild(this.frame)
      this.inside = this.frame.contentWindow
      // Messages are copied both ways, as those of a worker are.
      this.inside.postMessage = data =>
        this.tell(new MessageEvent("message", { data: structuredClone(data) }))
      const script = this.frame.contentDocument.createElement("script")
      script.src = new URL(address, location.href).href
      script.onload = () => {
        const waiting = this.waiting
        this.waiting = null
        waiting.forEach(data => this.post(data))
      }
      script.onerror = () => this.tell(new Event("error"))
      this.frame.contentDocument.body.appendChild(script)
    }
    post(data) {
      const copy = this.inside.structuredClone(data)
      this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data: copy }))
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.post(data)
    }
    tell(event) {
      setTimeout(() => {
        this.dispatchEvent(event)
        const heard = this["on" + event.type]
        if (heard) heard.call(this, event)
      })
    }
    terminate() {
      this.frame.remove()
    }
  }
}
