# What the scripts of this application's tasks share. It goes into a pod beside the script that is played, and never else.

settle() { # wait until 25 s in a row are good: no request failed
    local since=$SECONDS
    while ((SECONDS - since < 25)); do
        admin traffic --seconds 3 | jq -e '.requests > 0 and .failed == 0' >/dev/null || since=$SECONDS
        sleep 1
    done
}
