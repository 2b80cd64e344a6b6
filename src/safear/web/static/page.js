// The person's page. The form works without this file; with it, answers come without leaving the page.
"use strict";

(() => {
  const form = document.getElementById("form");
  const status = document.getElementById("status");
  let running = null;
  let timer = 0;

  document.documentElement.classList.add("script");

  // Put the parts of another page in the place of ours. `whole` are those with fields: only replaced if asked for,
  // so that nobody is interrupted while typing; `kept` is left alone.
  function show(page, whole, kept) {
    const focused = document.activeElement;
    const [answer, other] = [document, page].map((one) => one.getElementById("answer"));
    if (answer.dataset.state !== other.dataset.state) answer.replaceWith(other);
    for (const part of document.querySelectorAll(whole ? "[data-whole], [data-part]" : "[data-part]")) {
      const fresh = page.getElementById(part.id);
      if (!part.isConnected || !fresh || part.id === kept || fresh.isEqualNode(part)) continue;
      for (const details of part.querySelectorAll("details")) {
        const twin = fresh.querySelector("#" + details.id);
        if (twin) twin.open = details.open;
      }
      part.replaceWith(fresh);
    }
    for (const field of form.elements) {
      const twin = field.id && page.getElementById(field.id);
      for (const name of twin ? ["aria-invalid", "aria-valuetext"] : []) {
        if (twin.hasAttribute(name)) field.setAttribute(name, twin.getAttribute(name));
        else field.removeAttribute(name);
      }
    }
    if (focused && focused.id && !focused.isConnected) {
      const again = document.getElementById(focused.id) || document.getElementById("now");
      if (again) again.focus();
    }
    status.textContent = document.getElementById("decision").dataset.spoken;
  }

  async function ask(wish, kept) {
    clearTimeout(timer);
    if (running) running.abort();
    const mine = (running = new AbortController());
    const data = new URLSearchParams(new FormData(form));
    data.set("do", wish);
    document.body.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(form.action, { method: "POST", body: data, headers: { accept: "text/html" }, signal: mine.signal });
      const text = await response.text();
      if (!(response.headers.get("content-type") || "").startsWith("text/html")) throw new Error(text);
      show(new DOMParser().parseFromString(text, "text/html"), wish === "here" || wish === "clear", kept);
    } catch (error) {
      if (error.name === "AbortError") return;
      status.textContent = form.dataset.failed;
      status.classList.remove("unseen");
    }
    if (running === mine) {
      running = null;
      document.body.removeAttribute("aria-busy");
    }
  }

  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (button && button.hasAttribute("data-native")) return;
    event.preventDefault();
    ask(button ? button.value : "menu");
  });

  form.addEventListener("input", (event) => {
    clearTimeout(timer);
    if (event.target.id === "position") {
      timer = setTimeout(ask, 30, "slide", "slider"); // the slider stays: it is in somebody's hand
    } else {
      timer = setTimeout(ask, event.target.matches("[inputmode]") ? 400 : 0, "draft");
    }
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-print]")) window.print();
  });
})();
